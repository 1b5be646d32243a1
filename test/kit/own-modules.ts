/**
 * In the processes of the tests, too, modules of the product are found by their path. Vitest's own hook asks the file system
 * and tells the main process of each import: a quarter of the CPU that a process takes to load its first file. So a failure
 * in a source shows its place there without the lines around it; those of the test are shown.
 */
import { findModulesByPath } from '#shared/own-modules.ts';

findModulesByPath();
