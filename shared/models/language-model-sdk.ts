/** What language-model.ts uses of its libraries: several hundred modules, loaded once a program has a model. */
export { createOpenAICompatible } from '@ai-sdk/openai-compatible';
export { generateText, jsonSchema, streamText, tool } from 'ai';

// Warnings of the library would go to the console, past the log.
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
