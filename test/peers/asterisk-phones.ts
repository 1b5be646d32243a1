/** What a customer's own dialplan would do with calls, in place of phones. */

interface Phones {
  /** A number whose calls are answered. */
  readonly callee: string;
  /** The file of what is heard, which Asterisk writes. */
  readonly recording: string;
}

/** Calls from `caller@test`, and to the number: each presses 1, and records until the other side hangs up, or for 20 s. */
export const phonesOf = ({ callee, recording }: Phones): string => `
[test]
exten => caller,1,Wait(1)
 same => n,SendDTMF(1)
 same => n,Record(${recording},0,20,kq)
 same => n,Hangup()

[from-trunkline]
exten => ${callee.slice(1)},1,Answer()
 same => n,Verbose(1,the callee answers)
 same => n,Wait(1)
 same => n,SendDTMF(1)
 same => n,Record(${recording},0,20,kq)
 same => n,Hangup()
`;
