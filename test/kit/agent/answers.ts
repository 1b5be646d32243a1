/** What answers a call says, by who it is: the known truth for tests of the answering detector. */

export const people: readonly string[] = [
  'Hello?',
  'Yes?',
  'Hi, this is Anna.',
  'Smith residence, this is John speaking.',
  'Good morning, Miller and sons, how can I help?',
  'Hello, who is calling please?',
];

/** Longer than four seconds. */
export const longAnswers: readonly string[] = [
  'Good afternoon, thank you for calling Miller and sons, you are speaking with Jonathan, how can I help you today?',
  'Hello, this is the Smith family, we are just having dinner, so if you could make it short, who is calling please?',
  'Thank you for calling the dental practice on Main Street, my name is Sandra, what can I do for you?',
];

/** Of mailboxes, from short to long. */
export const greetings: readonly string[] = [
  'Please leave a message.',
  'Hi, you have reached John. Leave a message after the beep.',
  'The person you are trying to reach is not available. At the tone, please record your message.',
  'Hi, you have reached the voice mail of John Smith. I am not available right now. Please leave your name and number after the tone, and I will call you back.',
  'Your call has been forwarded to an automated voice messaging system. The number you have dialed is not available. At the tone, please record your message. When you are finished recording, you may hang up, or press one for more options.',
];

export const screening: readonly string[] = [
  "Hi, if you record your name and reason for calling, I'll see if this person is available.",
  "Hi, the person you're calling is using a screening service, and will get a copy of this conversation. Go ahead and say your name, and why you're calling.",
  'Hello, this is the call assistant of Maria. May I have your name and what you are calling about?',
  'This number is protected by call screening. Please state your name and the purpose of your call.',
];
