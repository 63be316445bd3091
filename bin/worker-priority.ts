import { constants, getPriority, setPriority } from "node:os";
import { getEnvironmentData, setEnvironmentData } from "node:worker_threads";

const KEY = "workers give way";
/** Steps of nice that give a thread a tenth of the time of one with the process's own priority. */
const STEPS = 10;

/** Makes worker threads that start from now on give way to the main thread and to other programs. */
export function letWorkersGiveWay(): void {
  setEnvironmentData(KEY, true);
}

/** Every worker calls this first. */
export function takePriority(): void {
  // On other systems the priority would apply to the whole process.
  if (process.platform === "linux" && getEnvironmentData(KEY) === true)
    setPriority(Math.min(getPriority() + STEPS, constants.priority.PRIORITY_LOW));
}
