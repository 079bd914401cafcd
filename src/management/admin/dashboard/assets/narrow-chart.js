// @ts-nocheck -- runs in browsers, whose types this repository does not load.
// Columns of a chart that are links: dragging over several, or Shift with the arrow keys and Enter, opens the time of all.
// Without this file each column opens its own time.

export function narrowCharts(root) {
  for (const hint of root.querySelectorAll("[data-narrowing]")) hint.hidden = false;
  for (const chart of root.querySelectorAll("svg.chart")) {
    const spots = [...chart.querySelectorAll("a.spot")];
    if (spots.length > 0) narrow(chart, spots);
  }
}

function narrow(chart, spots) {
  /** First and last column chosen, in the order of choosing; null: none. */
  let chosen = null;
  let isDragging = false;

  function choose(from, to) {
    chosen = from === -1 || to === -1 ? null : [from, to];
    const [first, last] = (chosen ?? [1, 0]).toSorted((left, right) => left - right);
    for (const [index, spot] of spots.entries()) {
      spot.classList.toggle("chosen", chosen !== null && index >= first && index <= last);
    }
  }

  function open() {
    const [first, last] = chosen
      .toSorted((one, other) => one - other)
      .map((index) => addressOf(spots[index]));
    first.searchParams.set("to", last.searchParams.get("to"));
    location.assign(first);
  }

  const indexOf = (event) => spots.indexOf(event.target.closest?.("a.spot"));
  chart.addEventListener("dragstart", (event) => event.preventDefault());
  chart.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    isDragging = true;
    // A finger would otherwise stay with the column where it began.
    event.target.releasePointerCapture?.(event.pointerId);
    choose(indexOf(event), indexOf(event));
  });
  chart.addEventListener("pointermove", (event) => {
    const at = indexOf(event);
    if (isDragging && chosen !== null && at !== -1) choose(chosen[0], at);
  });
  const endDragging = (event) => {
    if (!isDragging) return;
    isDragging = false;
    // One column is a click, which its link handles.
    if (event.type === "pointerup" && chosen !== null && chosen[0] !== chosen[1]) open();
    else choose(-1, -1);
  };
  for (const type of ["pointerup", "pointercancel"]) document.addEventListener(type, endDragging);
  chart.addEventListener("keydown", (event) => {
    const at = indexOf(event);
    const isArrow = event.key.startsWith("Arrow");
    if (event.key === "Escape" || (isArrow && !event.shiftKey)) choose(-1, -1);
    else if (event.key === "Enter" && chosen !== null) {
      event.preventDefault();
      open();
    } else if (isArrow) {
      // The chart's own handler has moved the focus already, or will: both ends are read after it.
      const from = chosen?.[0] ?? at;
      queueMicrotask(() => choose(from, spots.indexOf(document.activeElement)));
    }
  });
}

function addressOf(spot) {
  return new URL(spot.getAttribute("href"), location.href);
}
