/** The environment as a plain object, for code that reads it often. */

/**
 * Replaces `process.env` by a copy. Reading Node's own calls into the C++ environment and copies the string each time, and
 * drachtio-srf reads a variable for each header of each SIP message. Programs and threads that are started later get the
 * same variables. What the environment is given afterwards, C code of this process does not see.
 */
export function plainEnvironment(): void {
  process.env = { ...process.env };
}
