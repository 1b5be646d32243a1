/** A backup, restore or seeding that cannot be done; the message says why and what to do. */
export class OperationError extends Error {}
