/** Colours of the theme for a canvas, which does not know `light-dark()`: an element resolves them. */

/** @returns the colour of a variable of the stylesheet, as it is now in this element */
export function colorsOf(box: HTMLElement): (name: string) => string {
  const style = getComputedStyle(box);
  return (name) => {
    const probe = document.createElement('i');
    probe.style.color = style.getPropertyValue(name);
    box.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
}
