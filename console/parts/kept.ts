/** Choices of this browser. It may refuse to keep any; then they last as long as the page. */
export function readKept(name: string): string | null {
  try {
    return window.localStorage.getItem(`trunkline.${name}`);
  } catch {
    return null;
  }
}

export function writeKept(name: string, value: string): void {
  try {
    window.localStorage.setItem(`trunkline.${name}`, value);
  } catch {
    // Refused: nothing is lost but the choice.
  }
}
