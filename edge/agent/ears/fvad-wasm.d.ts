/** libfvad, WebRTC's voice activity detector, as WebAssembly. The package has no types. */
declare module '@echogarden/fvad-wasm' {
  export interface Fvad {
    /** The module's memory, as 16-bit words; another one after the memory has grown. */
    readonly HEAP16: Int16Array;
    /** @returns a detector, 0 when there is no memory */
    _fvad_new(): number;
    _fvad_free(detector: number): void;
    /** @param mode 0 (takes most for a voice) to 3 */
    _fvad_set_mode(detector: number, mode: number): number;
    _fvad_set_sample_rate(detector: number, hz: number): number;
    /** @returns 1 for a voice, 0 for none, -1 for a frame of another length than 10, 20 or 30 ms */
    _fvad_process(detector: number, frame: number, samples: number): number;
    _malloc(bytes: number): number;
    _free(pointer: number): void;
  }
  export default function fvad(): Promise<Fvad>;
}
