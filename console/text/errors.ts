/** Texts of failed requests; what helps beyond docs/errors.md, for a person in front of the page. */
interface ErrorTexts {
  readonly noAnswer: string;
  readonly noAnswerHelps: string;
  readonly reload: string;
  readonly again: string;
  readonly request: (id: string) => string;
  readonly unreadable: (status: number) => string;
  readonly wait: (seconds: number) => string;
  readonly advice: Readonly<Record<string, string | undefined>>;
}

export const errors: ErrorTexts = {
  noAnswer: 'The control plane did not answer.',
  noAnswerHelps:
    'Check that it runs and that your network reaches it. The page goes on when it answers again.',
  reload: 'Load the page again. If it happens again, tell the operator what you did.',
  again: 'Try again',
  request: (id) => `Request ${id}`,
  unreadable: (status) => `The answer with status ${status} has no readable error.`,
  wait: (seconds) => `Wait ${seconds} s, then try again.`,
  advice: {
    INVALID_PARAMETER: 'Correct the value that the message names.',
    AUTH_FAILURE: 'Check that the key is complete, not revoked, and of this deployment.',
    ROLE_TOO_LOW: 'Ask an admin of the organization for a key with a higher role.',
    CSRF_TOKEN_INVALID: 'Load the page again: another tab has signed in since.',
    CALL_NOT_FOUND:
      'Check the address. Calls are kept for at least 90 days, and only those of your organization show.',
  },
};
