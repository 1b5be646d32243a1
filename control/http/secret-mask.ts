/** Stands for a stored secret on read, and keeps it on write (contract 1.7). */
export const secretMask = '********';
