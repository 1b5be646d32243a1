/** The libraries that language-model.ts uses: several hundred modules, loaded only when a model is configured. */
export { createOpenAICompatible } from '@ai-sdk/openai-compatible';
export { generateText, jsonSchema, streamText, tool } from 'ai';

// The library would write warnings to the console, bypassing the log.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
