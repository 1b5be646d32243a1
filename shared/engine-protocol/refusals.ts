/**
 * Reasons with which an engine rejects a frame of the application, as both engines write them: drachtio-srf makes them
 * the message of an error. Each is part of the reason.
 */
export const frameRefusals = {
  /** The request of the response has its final response already, or was canceled. */
  unknownTransaction: 'Response not sent due to unknown transaction',
  /** The connection over which the request came is closed. */
  connectionClosed: 'transport for response has been shutdown or closed',
  /** drachtio-srf gives the error the code ENODIALOG. */
  unknownDialog: 'Server error: unable to find dialog for dialog id provided',
  /** Written by the edge in the place of a drachtio-server, which could not take the frame. */
  frameTooLong: 'frame too long for the SIP engine',
  /** A bug of the engine; its message follows. */
  engineFailure: 'engine failure: ',
  /** The target of a request is the engine itself. */
  ownAddress: 'can not send request to myself',
} as const;

export type FrameRefusal = keyof typeof frameRefusals;
