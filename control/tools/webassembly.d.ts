/** The parts of WebAssembly that the sandbox needs; TypeScript declares it only with the browser's types. */
declare namespace WebAssembly {
  class Memory {
    /** Sizes in pages of 64 KiB. */
    constructor(limits: { readonly initial: number; readonly maximum: number });
  }
}
