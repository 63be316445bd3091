// The package has no types; these are of the calls that registry search makes.
declare module "wink-bm25-text-search" {
  type Engine = {
    defineConfig(config: {
      fldWeights: Record<string, number>;
      bm25Params?: { k1?: number; b?: number; k?: number };
    }): void;
    definePrepTasks(tasks: ((text: string) => string[])[]): void;
    addDoc(document: Record<string, string>, id: number): void;
    consolidate(precision?: number): void;
    search(text: string, limit?: number): [id: string, score: number][];
  };
  function createEngine(): Engine;
  export = createEngine;
}
