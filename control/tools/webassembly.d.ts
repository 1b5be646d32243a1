/** Of WebAssembly, which TypeScript knows only together with the browser, what the sandbox needs. */
declare namespace WebAssembly {
  class Memory {
    /** Sizes in pages of 64 KiB. */
    constructor(limits: { readonly initial: number; readonly maximum: number });
  }
}
