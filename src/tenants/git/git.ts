import { GitError, type SimpleGit, simpleGit } from "simple-git";
import { Failure } from "../../base/failure.ts";

/** How git is run: nothing of the machine's or the user's configuration takes part. */
export type GitOptions = {
  /** The bare repository; made by `init`. */
  readonly directory: string;
  /** Without credentials. */
  readonly url: string;
  /** An empty directory of ours, for the home of git and the like. */
  readonly home: string;
  /** What git needs of the process's variables: PATH, and where the system keeps its certificates. */
  readonly environment: Readonly<Record<string, string>>;
  /** Schemes that may be spoken. */
  readonly protocols: readonly string[];
  /** `http://user:password@127.0.0.1:PORT` that every connection goes through; null for local repositories. */
  readonly proxyUrl: string | null;
  readonly credentials: GitCredentials | null;
  /** PEM file of certificates to trust; null: the system's. */
  readonly certificateFile: string | null;
  /** Without a byte for so long, git is ended, in ms. */
  readonly silenceLimitMs: number;
  readonly signal: AbortSignal;
};

/** Handed to git by a script that it asks; they stand in its environment and nowhere else. */
export type GitCredentials = {
  readonly askpassPath: string;
  readonly username: string;
  readonly token: string;
};

/** Runs git commands on one bare repository. */
export interface Git {
  /**
   * @param input goes to the standard input
   * @returns the standard output
   * @throws Failure `cancelled`, or `network` with what git said, secrets taken out
   */
  run(words: readonly string[], input?: string): Promise<string>;
  /** As `run`, of `cat-file`, with the output as bytes. */
  catFile(words: readonly string[], input: string): Promise<Uint8Array>;
}

/** Opens git for a repository that need not exist yet. */
export function openGit(options: GitOptions): Git {
  const environment = gitEnvironment(options);
  const open = (input: string | undefined): SimpleGit =>
    simpleGit({
      baseDir: options.home,
      abort: options.signal,
      maxConcurrentProcesses: 1,
      timeout: { block: options.silenceLimitMs },
      allowEnvironment: Object.keys(environment),
      // All of these come from `gitEnvironment`, which makes git safer, and never from a repository or its URL.
      unsafe: {
        allowUnsafeAskPass: true,
        allowUnsafeConfigEnvCount: true,
        allowUnsafeConfigPaths: true,
        allowUnsafeHooksPath: true,
        allowUnsafeFsMonitor: true,
        allowUnsafeCredentialHelper: true,
        allowUnsafeProtocolOverride: true,
        allowUnsafeGitProxy: true,
        allowUnsafeTemplateDir: true,
      },
      ...(input === undefined ? {} : { input: () => input }),
    }).env(environment);
  const guard = async <T>(words: readonly string[], work: () => PromiseLike<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (options.signal.aborted) throw new Failure("cancelled", "the sync was called off");
      throw gitFailure(words, error, options);
    }
  };
  return {
    run: (words, input) => guard(words, () => open(input).raw([...words])),
    catFile: (words, input) => guard(words, () => open(input).binaryCatFile([...words])),
  };
}

function gitEnvironment(options: GitOptions): Record<string, string> {
  const { credentials, home } = options;
  const config = Object.entries(gitConfiguration(options));
  return {
    ...options.environment,
    GIT_DIR: options.directory,
    HOME: home,
    XDG_CONFIG_HOME: home,
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: NOWHERE,
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: options.protocols.join(":"),
    // Before the askpass of a desktop: without a token nobody is asked.
    GIT_ASKPASS: credentials?.askpassPath ?? "",
    ...(credentials && { SYNC_USERNAME: credentials.username, SYNC_TOKEN: credentials.token }),
    GIT_CONFIG_COUNT: String(config.length),
    ...Object.fromEntries(
      config.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}

const NOWHERE = process.platform === "win32" ? "NUL" : "/dev/null";

/** Goes before what the repository's own file says; given in variables, which no list of processes shows. */
function gitConfiguration({ url, proxyUrl, certificateFile }: GitOptions): Record<string, string> {
  return {
    "remote.origin.url": url,
    "core.hooksPath": NOWHERE,
    "core.fsmonitor": "false",
    "core.attributesFile": NOWHERE,
    "core.symlinks": "false",
    "credential.helper": "",
    "fetch.recurseSubmodules": "false",
    "submodule.recurse": "false",
    "fetch.writeCommitGraph": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "init.templateDir": "",
    "protocol.version": "2",
    // Where a repository has moved to is for the operator to say: the token must not follow.
    "http.followRedirects": "false",
    ...(proxyUrl && { "http.proxy": proxyUrl, "http.proxyAuthMethod": "basic" }),
    ...(certificateFile && { "http.sslCAInfo": certificateFile }),
  };
}

const MAX_SHOWN = 500;

function gitFailure(words: readonly string[], error: unknown, options: GitOptions): Failure {
  const said = error instanceof GitError || error instanceof Error ? error.message : String(error);
  if (/ENOENT/.test(said) && /spawn/.test(said))
    return new Failure("invalid_settings", "git tenants need the program git, which was not found on PATH");
  const lines = withoutSecrets(said, options)
    .split("\n")
    .map((line) => line.trim())
    .filter(
      (line) => line !== "" && !/^(?:remote: )?(?:Enumerating|Counting|Compressing|Receiving)/.test(line),
    );
  const shown = lines.join("; ").slice(0, MAX_SHOWN);
  const code = /timeout plugin|block timeout/i.test(said) ? "timeout" : "network";
  return new Failure(code, `git ${words[0]}: ${shown}`);
}

// Taking out every "a" would leave no message.
const MIN_SECRET = 3;

function withoutSecrets(text: string, { credentials, proxyUrl, directory }: GitOptions): string {
  const proxy = proxyUrl === null ? null : new URL(proxyUrl);
  const secrets = [credentials?.token, proxy?.password].filter(
    (secret) => secret !== undefined && secret.length >= MIN_SECRET,
  );
  let shown = text.replaceAll(/(https?:\/\/)[^/\s@]*@/gi, "$1");
  for (const secret of secrets) {
    shown = shown.replaceAll(String(secret), "…").replaceAll(encodeURIComponent(String(secret)), "…");
  }
  return shown.replaceAll(directory, "the clone");
}
