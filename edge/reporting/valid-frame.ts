/** Checks frames from control, and the stored configuration as a part of one: compiled once, because each takes memory. */
import { Compile } from 'typebox/compile';
import { ControlToEdge } from '#shared/edge-protocol/frames.ts';

export const validFrame = Compile(ControlToEdge);
