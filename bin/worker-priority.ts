import { constants, getPriority, setPriority } from "node:os";
import { getEnvironmentData, setEnvironmentData } from "node:worker_threads";

const KEY = "workers give way";
/** Of nice: a thread gets a tenth of what one of the process's own priority gets beside it. */
const STEPS = 10;

/** Has the worker threads that start from now on leave the processor to the main thread, and to other programs. */
export function letWorkersGiveWay(): void {
  setEnvironmentData(KEY, true);
}

/** What a worker does first. */
export function takePriority(): void {
  // Elsewhere than on Linux the priority is the whole process's.
  if (process.platform === "linux" && getEnvironmentData(KEY) === true)
    setPriority(Math.min(getPriority() + STEPS, constants.priority.PRIORITY_LOW));
}
