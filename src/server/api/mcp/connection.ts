import { isRecord } from "../../../base/json.ts";
import { batchProblem, NO_JSON, type RpcId, readMessage, refusal, withoutNullParams } from "./messages.ts";
import type { Transport } from "./modern.ts";

/** The answers to a batch so far, which are written together. */
type Batch = { waiting: number; readonly answers: object[] };

/** One client whose messages come as texts. It answers what is no message, and knows which requests are under way. */
export class ClientConnection implements Transport {
  onclose?: Transport["onclose"];
  onerror?: Transport["onerror"];
  onmessage?: Transport["onmessage"];
  readonly #write: (text: string) => Promise<void>;
  readonly #underWay = new Map<RpcId, Batch | null>();
  #revision: string | null = null;
  #written: Promise<void> = Promise.resolve();
  #onIdle: (() => void) | null = null;
  #isClosed = false;

  /** @param write sends a text to the client; it is never called before an earlier call has ended */
  constructor(write: (text: string) => Promise<void>) {
    this.#write = write;
  }

  async start(): Promise<void> {}

  /** The SDK says which revision was agreed on. */
  readonly setProtocolVersion = (revision: string): void => {
    this.#revision = revision;
  };

  /** Takes a message, or a batch of them. */
  receive(text: string): void {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      this.#put(NO_JSON, null);
      return;
    }
    if (!Array.isArray(message)) this.#take(message, null);
    else this.#takeBatch(message);
  }

  #takeBatch(messages: readonly unknown[]): void {
    const problem = batchProblem(messages, this.#revision);
    if (problem) {
      this.#put(problem, null);
      return;
    }
    // The batch itself counts as waiting, so that it is not written before all of it is taken.
    const batch: Batch = { waiting: 1, answers: [] };
    for (const message of messages) this.#take(message, batch);
    this.#settle(batch);
  }

  #take(sent: unknown, batch: Batch | null): void {
    const message = withoutNullParams(sent);
    const read = readMessage(message);
    if (read.kind === "invalid") this.#put(read.answer, batch);
    if (read.kind === "invalid" || read.kind === "response") return;
    if (read.kind === "request") {
      if (this.#underWay.has(read.id)) {
        this.#put(refusal(read.id, "a request with this id is under way"), batch);
        return;
      }
      this.#underWay.set(read.id, batch);
      if (batch) batch.waiting++;
    }
    this.onmessage?.(message as Parameters<NonNullable<Transport["onmessage"]>>[0]); // readMessage has checked it
    if (read.kind === "notification" && read.method === "notifications/cancelled") this.#cancel(message);
  }

  /** A cancelled request is not answered. */
  #cancel(message: unknown): void {
    const params = isRecord(message) && isRecord(message.params) ? message.params : {};
    this.#end(params.requestId as RpcId); // an id of another type is in no map
  }

  async send(message: object): Promise<void> {
    const id = "id" in message ? (message.id as RpcId) : null; // the SDK repeats the id of a request
    const batch = id === null ? null : (this.#underWay.get(id) ?? null);
    this.#put(message, batch);
    if (id !== null) this.#end(id);
    await this.#written;
  }

  #end(id: RpcId): void {
    const batch = this.#underWay.get(id);
    if (!this.#underWay.delete(id)) return;
    if (batch) this.#settle(batch);
    if (this.#underWay.size === 0) this.#onIdle?.();
  }

  #settle(batch: Batch): void {
    if (--batch.waiting === 0 && batch.answers.length > 0) this.#put(batch.answers, null);
  }

  #put(answer: object, batch: Batch | null): void {
    if (batch) batch.answers.push(answer);
    else if (!this.#isClosed)
      this.#written = this.#written
        .then(() => this.#write(JSON.stringify(answer)))
        .catch((error) => {
          this.onerror?.(error);
          void this.close();
        });
  }

  /** Refuses a message that is too long to be read. */
  refuse(reason: string): void {
    this.#put(refusal(null, reason), null);
  }

  /** Resolves once all requests are answered, and the answers are written. */
  async idle(): Promise<void> {
    if (this.#underWay.size > 0)
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    await this.#written;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#underWay.clear();
    this.#onIdle?.();
    this.onclose?.();
  }
}
