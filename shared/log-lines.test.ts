import { describe, expect, it } from 'vitest';
import { lineForPeople } from './log-lines.ts';

const time = new Date(2030, 0, 2, 9, 5, 7, 45).getTime();
const line = (event: object) => lineForPeople(`${JSON.stringify(event)}\n`, false);

describe('a line of the log for people', () => {
  it('has time, program, level, words and facts', () => {
    const event = {
      level: 30,
      time,
      program: 'edge',
      version: 7,
      sip: '0.0.0.0:5061',
      why: 'two words',
      msg: 'edge is ready',
    };
    expect(line(event)).toBe(
      '09:05:07.045 edge    info  edge is ready version=7 sip=0.0.0.0:5061 why="two words"\n',
    );
  });

  it('leaves out which process it was, and writes structures as JSON', () => {
    const event = {
      level: 40,
      time,
      program: 'control',
      instance: 'x',
      pid: 5,
      tls: { port: 5061 },
      none: null,
      msg: 'm',
    };
    expect(line(event)).toBe('09:05:07.045 control WARN  m tls={"port":5061} none=null\n');
  });

  it('shows the stack of an error below', () => {
    const event = {
      level: 50,
      time,
      program: 'edge',
      err: { message: 'bad', stack: 'Error: bad\n    at x' },
      msg: 'failed',
    };
    expect(line(event)).toBe('09:05:07.045 edge    ERROR failed\n    Error: bad\n        at x\n');
    expect(line({ ...event, err: { message: 'bad' } })).toContain('\n    bad\n');
  });

  it('lets nothing from outside act on the terminal', () => {
    const event = {
      level: 30,
      time,
      program: 'edge',
      from: '\u001b[2J\u009b1m\u202e',
      '\u0007': 1,
      msg: 'a\r\nb\u0007',
    };
    expect(line(event)).toBe(
      '09:05:07.045 edge    info  a\\u000d\\u000ab\\u0007 from="\\u001b[2J\\u009b1m\\u202e" \\u0007=1\n',
    );
  });

  it('keeps what is not of the log, and a line without a time or level', () => {
    expect(lineForPeople('(node:7) Warning: x\n', false)).toBe('(node:7) Warning: x\n');
    expect(lineForPeople('7\n', false)).toBe('7\n');
    expect(line({ msg: 'x' })).toBe('--:--:--.---               x\n');
  });

  it('paints level and facts where colours are wanted', () => {
    const painted = lineForPeople(JSON.stringify({ level: 50, time, program: 'edge', a: 1, msg: 'm' }), true);
    expect(painted).toContain('\u001b[31mERROR\u001b[0m');
    expect(painted).toContain('\u001b[90ma=1\u001b[0m');
  });
});
