/** The microphone, and why there is none. */
export type MicrophoneFault = 'insecure' | 'denied' | 'none' | 'busy';

export class NoMicrophone extends Error {
  readonly fault: MicrophoneFault;
  constructor(fault: MicrophoneFault) {
    super(`no microphone: ${fault}`);
    this.fault = fault;
  }
}

const faults: Readonly<Record<string, MicrophoneFault>> = {
  NotAllowedError: 'denied',
  SecurityError: 'denied',
  NotFoundError: 'none',
  OverconstrainedError: 'none',
};

/** @param id '': the one that the browser prefers. @throws NoMicrophone */
export async function openMicrophone(id: string): Promise<MediaStream> {
  // Pages over plain HTTP from another machine have no devices at all.
  if (!window.isSecureContext) throw new NoMicrophone('insecure');
  try {
    return await navigator.mediaDevices.getUserMedia({
      audio: id === '' ? true : { deviceId: { exact: id } },
    });
  } catch (error) {
    throw new NoMicrophone((error instanceof DOMException && faults[error.name]) || 'busy');
  }
}

export function stopMicrophone(microphone: MediaStream): void {
  for (const track of microphone.getTracks()) track.stop();
}

export interface Device {
  readonly id: string;
  readonly name: string;
}

/** Their names are known once the microphone was allowed. */
export async function listDevices(kind: 'audioinput' | 'audiooutput'): Promise<readonly Device[]> {
  if (!window.isSecureContext) return [];
  const all = await navigator.mediaDevices.enumerateDevices();
  return all
    .filter((one) => one.kind === kind && one.deviceId !== '')
    .map(({ deviceId: id, label: name }) => ({ id, name }));
}
