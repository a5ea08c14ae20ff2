/* Evaluated in the page: gives what `fitting.py` asks for. */
() => {
  const everything = [];
  const collect = (root) => {
    for (const element of root.querySelectorAll('*')) {
      everything.push(element);
      if (element.shadowRoot) collect(element.shadowRoot);
    }
  };
  collect(document);

  const misfits = () => {
    const around = (element) => element.assignedSlot ?? element.parentElement ?? element.getRootNode().host ?? null;
    const scrolls = (element, axis) => {
      const style = getComputedStyle(element);
      return axis === 'x' ? ['auto', 'scroll'].includes(style.overflowX) && element.scrollWidth > element.clientWidth
        : ['auto', 'scroll'].includes(style.overflowY) && element.scrollHeight > element.clientHeight;
    };
    const cuts = (element, axis) => ['hidden', 'clip'].includes(getComputedStyle(element)[axis === 'x' ? 'overflowX' : 'overflowY']);
    const found = [];
    if (document.documentElement.scrollWidth > innerWidth) found.push(`the document is ${document.documentElement.scrollWidth} wide`);
    const controls = everything.filter((element) => element.matches('a[href], button, input, select, textarea, summary, [tabindex="0"], h1'));
    for (const element of controls) {
      if (!element.checkVisibility({opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true})) continue;
      const box = element.getBoundingClientRect();
      if (box.width < 2 || box.height < 2) continue; // for screen readers alone
      let by = '', isReachedX = false, isReachedY = false;
      for (let each = around(element); each && each !== document.documentElement; each = around(each)) {
        const style = getComputedStyle(each), frame = each.getBoundingClientRect();
        if (style.display === 'contents') continue;
        isReachedX ||= scrolls(each, 'x');
        isReachedY ||= scrolls(each, 'y');
        if (!isReachedX && cuts(each, 'x') && (box.right > frame.right + 1 || box.left < frame.left - 1)) by ||= each.localName;
        if (!isReachedY && cuts(each, 'y') && (box.bottom > frame.bottom + 1 || box.top < frame.top - 1)) by ||= each.localName;
        if (style.position === 'fixed') break;
      }
      if (!isReachedX && (box.right > innerWidth + 1 || box.left < -1)) by ||= 'the window';
      const name = (element.ariaLabel || element.textContent || element.name || '').trim().slice(0, 40);
      if (by) found.push(`${element.localName} "${name}" of ${element.getRootNode().host?.localName} is cut off by ${by}`);
    }
    return found;
  };

  const motions = () => {
    const isTimed = (text) => text.split(',').some((part) => parseFloat(part) > 0);
    const found = document.getAnimations().map((each) => `${each.effect?.target?.localName} runs ${each.animationName ?? each.transitionProperty}`);
    for (const element of everything) {
      for (const part of [null, '::before', '::after', '::backdrop']) {
        const style = getComputedStyle(element, part);
        const moves = isTimed(style.transitionDuration) || (style.animationName !== 'none' && isTimed(style.animationDuration));
        if (moves || style.scrollBehavior === 'smooth') found.push(`${element.localName}.${element.className}${part ?? ''} of ${element.getRootNode().host?.localName} moves`);
      }
    }
    return [...new Set(found)];
  };

  return {misfits, motions};
}
