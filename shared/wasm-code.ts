/** What V8 does with the code of WebAssembly programs. */
import { setFlagsFromString } from 'node:v8';

/**
 * V8 can end the whole process when it frees code of WebAssembly while several threads have it: "Check failed:
 * jit_page_->allocations_.erase(addr) == 1" (nodejs/node issue 64500). After this call it frees none in any thread of the
 * process, which takes no more memory. Each thread calls it before it runs such a program, as not every process is
 * started with the flag (scripts/supervisor/node-flags.ts).
 */
export function keepWasmCode(): void {
  setFlagsFromString('--no-wasm-code-gc');
}
