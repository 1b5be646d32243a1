/** The part of the WebAssembly JavaScript interface that is used; Node has it, but the es2024 library lacks its types. */
declare namespace WebAssembly {
  /** A compiled program; it can be sent to other threads. */
  interface Module {
    readonly [moduleBrand]: true;
  }
  const moduleBrand: unique symbol;
  class Memory {
    /** Sizes in pages of 64 KiB. */
    constructor(limits: { readonly initial: number; readonly maximum: number });
    readonly buffer: ArrayBuffer;
  }
  interface Instance {
    readonly exports: Record<string, unknown>;
  }
  function compile(bytes: Uint8Array): Promise<Module>;
  function instantiate(module: Module, imports: object): Promise<Instance>;
}
