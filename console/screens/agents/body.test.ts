import { describe, expect, it } from 'vitest';
import { agentBody } from './body.ts';

const filled = (fields: Readonly<Record<string, string>>) => agentBody((name) => fields[name] ?? '');

describe('what the form of an agent of others sends', () => {
  it('is what its format has, and nothing that another format had in the form', () => {
    const call = {
      name: 'Desk',
      format: 'call',
      from: '+14155550120',
      to: 'sip:a@b.example',
      perMinute: '6',
    };
    expect(filled({ ...call, url: 'https://left.example', header: 'X-Key' })).toEqual({
      name: 'Desk',
      format: 'call',
      from: '+14155550120',
      to: 'sip:a@b.example',
      calls_per_minute: 6,
    });
    const url = 'wss://bot.example.com/';
    expect(filled({ name: 'Bot', format: 'stream', url })).toEqual({ name: 'Bot', format: 'stream', url });
  });

  it('has a secret header only with a value', () => {
    const chat = {
      name: 'Chat',
      format: 'openai',
      url: 'https://a.example',
      model: 'm',
      header: 'Authorization',
    };
    expect(filled(chat)).not.toHaveProperty('headers');
    expect(filled({ ...chat, secret: 'Bearer x' })).toMatchObject({
      headers: [{ name: 'Authorization', value: 'Bearer x' }],
    });
  });

  it('has the body of a chat of its own as JSON, or says which field is not', () => {
    const form = { name: 'Form', format: 'form', url: 'https://a.example', reply: '/reply' };
    expect(filled({ ...form, body: '{"text": "{{message}}"}', speaksFirst: 'on' })).toEqual({
      ...form,
      body: { text: '{{message}}' },
      speaks_first: true,
    });
    expect(() => filled({ ...form, body: '{text' })).toThrow('Body of each request');
  });
});
