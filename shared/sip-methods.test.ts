import { expect, test } from 'vitest';
import { allow } from './sip-methods.ts';

test('Allow lists the methods of the interface, and those that a call needs besides', () => {
  expect(allow).toBe('INVITE, ACK, BYE, CANCEL, OPTIONS, REFER, NOTIFY, PRACK, UPDATE, INFO');
});
