"use strict";
// Ties lines that belong together, opens the notes of a line, and switches tabs; all of it with the keyboard too.
(() => {
  const keysOf = (element) => (element.dataset.key || "").split(" ").filter(Boolean);
  const lit = new Map([["hot", []], ["pinned", []]]);

  function light(root, kind, keys) {
    for (const element of lit.get(kind)) element.classList.remove(kind);
    const together = keys.length ? [...root.querySelectorAll("[data-key]")].filter((e) => keysOf(e).some((key) => keys.includes(key))) : [];
    for (const element of together) element.classList.add(kind);
    lit.set(kind, together);
    return together;
  }

  function openNotes(line, open) {
    const notes = line.querySelector(".notes");
    if (!notes) return;
    notes.hidden = !open;
    line.setAttribute("aria-expanded", String(open));
  }

  function pin(root, line) {
    const keys = line ? keysOf(line) : [];
    const again = line && line.classList.contains("pinned") && lit.get("anchor") === line;
    for (const other of root.querySelectorAll('.line[aria-expanded="true"]')) openNotes(other, false);
    lit.set("anchor", again ? null : line);
    const together = light(root, "pinned", again ? [] : keys);
    if (!line || again) return;
    openNotes(line, true);
    const other = together.find((e) => e.dataset.side && e.dataset.side !== line.dataset.side);
    if (other) reveal(other);
  }

  function reveal(line) {
    const box = line.getBoundingClientRect();
    if (box.top < 0 || box.bottom > innerHeight) line.scrollIntoView({ block: "nearest" });
  }

  function step(root, line, by) {
    const lines = [...line.parentElement.closest(".pane").querySelectorAll(".line[tabindex]")];
    const next = lines[lines.indexOf(line) + by];
    if (next) focusLine(lines, next);
  }

  function focusLine(lines, line) {
    for (const other of lines) other.tabIndex = other === line ? 0 : -1;
    line.focus();
  }

  function across(root, line) {
    const keys = keysOf(line);
    const side = line.dataset.side === "f" ? "d" : "f";
    const other = [...root.querySelectorAll(`.line[data-side="${side}"]`)].find((e) => keysOf(e).some((key) => keys.includes(key)));
    if (other) focusLine([...other.closest(".pane").querySelectorAll(".line[tabindex]")], other);
  }

  function onKey(root, event) {
    const tab = event.target.closest('[role="tab"]');
    if (tab) return onTabKey(tab, event);
    if (event.key === "Escape") return pin(root, null);
    const line = event.target.closest(".line");
    if (!line || event.target !== line) return undefined;
    const moves = { ArrowDown: () => step(root, line, 1), ArrowUp: () => step(root, line, -1), ArrowRight: () => across(root, line),
      ArrowLeft: () => across(root, line), Enter: () => pin(root, line), " ": () => pin(root, line) };
    if (!moves[event.key]) return undefined;
    event.preventDefault();
    return moves[event.key]();
  }

  function onTabKey(tab, event) {
    const tabs = [...tab.parentElement.children];
    const place = tabs.indexOf(tab);
    const to = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = tabs[(to + tabs.length) % tabs.length];
    choose(next);
    next.focus();
  }

  function choose(tab) {
    for (const other of tab.parentElement.children) {
      const chosen = other === tab;
      other.setAttribute("aria-selected", String(chosen));
      other.tabIndex = chosen ? 0 : -1;
      document.getElementById(other.getAttribute("aria-controls")).hidden = !chosen;
    }
  }

  function prepare(root) {
    for (const pane of root.querySelectorAll(".pane")) {
      const lines = [...pane.querySelectorAll(".line[data-side]")];
      lines.forEach((line, number) => {
        line.tabIndex = number ? -1 : 0;
        if (line.querySelector(".notes")) line.setAttribute("aria-expanded", "false");
      });
    }
    for (const panel of root.querySelectorAll('[role="tabpanel"]')) panel.hidden = panel.dataset.first === undefined;
    for (const button of root.querySelectorAll(".all-notes")) button.hidden = false;
  }

  function mount(root) {
    prepare(root);
    root.addEventListener("pointerover", (event) => {
      const tied = event.target.closest("[data-key]");
      light(root, "hot", tied ? keysOf(tied) : []);
    });
    root.addEventListener("pointerleave", () => light(root, "hot", []));
    root.addEventListener("focusin", (event) => {
      const line = event.target.closest(".line[data-key]");
      light(root, "hot", line ? keysOf(line) : []);
    });
    root.addEventListener("click", (event) => {
      const tab = event.target.closest('[role="tab"]');
      if (tab) return choose(tab);
      const all = event.target.closest(".all-notes");
      if (all) {
        const open = all.getAttribute("aria-pressed") !== "true";
        all.setAttribute("aria-pressed", String(open));
        all.textContent = open ? "Hide all notes" : "Show all notes";
        for (const line of all.closest(".pane").querySelectorAll(".line")) openNotes(line, open);
        return undefined;
      }
      if (event.target.closest(".notes") || String(getSelection())) return undefined;
      const line = event.target.closest(".line[tabindex]");
      if (line) pin(root, line);
      return undefined;
    });
    root.addEventListener("keydown", (event) => onKey(root, event));
  }

  window.symgrad = { mount, prepare, light };
  const page = document.getElementById("page");
  if (page) mount(page);
})();
