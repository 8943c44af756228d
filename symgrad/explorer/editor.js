"use strict";
// Sends the text to the server as it is typed, shows what comes back, and ties lines of the text to lines of the gradient.
(() => {
  const at = (id) => document.getElementById(id);
  const [text, backdrop, gutter] = [at("text"), at("backdrop"), at("gutter")];
  const [choice, args, wrt] = [at("function"), at("args"), at("wrt")];
  const WAIT = 120; // milliseconds after a key, before the text is sent
  const PATIENCE = 500; // milliseconds without an answer, before the page says that it works
  let lines = new Map(); // by the number of a line: its row of the listing, as the server has made it
  let timer = 0;
  let asking = false;
  let again = false;
  let faulty = 0;

  const TOKENS = /(#.*)|("""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|\b(def|return|for|while|if|elif|else|in|import|from|as|and|or|not|is|None|True|False|lambda|class|with|try|except|finally|raise|assert|break|continue|pass|yield|global|nonlocal|del|async|await)\b|\b(range|len|sum|abs|max|min|float|int|print|list|tuple|dict|set|zip|enumerate|reversed|sorted|map|any|all|isinstance|bool|round)\b|\b(\d[\d_]*\.?[\d_]*(?:[eE][+-]?\d+)?)/g;
  const KINDS = ["comment", "string", "keyword", "builtin", "number"];

  function pieces(source) {
    const rows = [[]];
    const add = (kind, words) => words.split("\n").forEach((part, number) => {
      if (number) rows.push([]);
      if (part) rows[rows.length - 1].push([kind, part]);
    });
    let place = 0;
    for (const match of source.matchAll(TOKENS)) {
      add("", source.slice(place, match.index));
      add(KINDS[match.slice(1).findIndex((group) => group !== undefined)], match[0]);
      place = match.index + match[0].length;
    }
    add("", source.slice(place));
    return rows;
  }

  function paint() {
    const rows = pieces(text.value).map((row, number) => {
      const line = document.createElement("div");
      const words = document.createElement("span");
      words.className = "text";
      for (const [kind, part] of row) {
        const piece = document.createElement("span");
        if (kind) piece.className = `k-${kind}`;
        piece.textContent = part;
        words.append(piece);
      }
      line.append(words);
      const listed = lines.get(number + 1);
      if (listed && listed.dataset.key) line.dataset.key = listed.dataset.key;
      const marks = listed && listed.querySelector(".marks");
      if (marks) line.append(marks.cloneNode(true));
      if (number + 1 === faulty) line.className = "faulty";
      return line;
    });
    backdrop.replaceChildren(...rows);
    gutter.replaceChildren(...rows.map((_, number) => {
      const mark = document.createElement("div");
      const listed = lines.get(number + 1);
      const colour = listed && [...listed.classList].find((name) => /^c\d$/.test(name));
      if (colour) mark.className = colour;
      mark.textContent = number + 1;
      return mark;
    }));
  }

  const caretLine = () => text.value.slice(0, text.selectionStart).split("\n").length;

  function followCaret() {
    const number = caretLine();
    const listed = lines.get(number);
    symgrad.light(document, "pinned", listed && listed.dataset.key ? listed.dataset.key.split(" ") : []);
    const title = document.createElement("h3");
    title.textContent = `line ${number}`;
    const notes = listed && listed.querySelector(".notes");
    if (notes) {
      const shown = notes.cloneNode(true);
      shown.hidden = false;
      at("told").replaceChildren(title, shown);
    } else {
      const nothing = document.createElement("p");
      nothing.textContent = listed ? "Nothing was decided about this line." : lines.size ? "This line is not in the function: click one with a coloured edge." : "";
      at("told").replaceChildren(title, nothing);
    }
  }

  function show(reply) {
    at("notice").innerHTML = reply.notice;
    faulty = reply.error ? reply.error.line : 0;
    if (reply.functions.length) {
      choice.replaceChildren(...reply.functions.map((name) => new Option(name, name, false, name === reply.function)));
    }
    args.placeholder = reply.guess || "values, such as np.ones(3), 2.0";
    for (const id of ["derivative", "rest"]) at(id).classList.toggle("stale", !reply.html);
    if (reply.html) {
      const chosen = [...document.querySelectorAll('#rest [role="tab"][aria-selected="true"]')].map((tab) => tab.id);
      const holder = document.createElement("div");
      holder.innerHTML = reply.html;
      lines = new Map([...holder.querySelectorAll(".function .line")].map((line) => [Number(line.querySelector(".number").textContent), line]));
      at("verdict").replaceChildren(...[holder.querySelector(".verdict:not(.unknown)")].filter(Boolean));
      at("call").replaceChildren(...[holder.querySelector("dl.call")].filter(Boolean));
      at("derivative").replaceChildren(holder.querySelector(".derivative"));
      at("rest").replaceChildren(holder.querySelector(".more"));
      symgrad.prepare(at("derivative"));
      symgrad.prepare(at("rest"));
      for (const id of chosen) if (at(id)) at(id).click();
    } else {
      lines = new Map();
      at("verdict").replaceChildren();
    }
    paint();
    followCaret();
  }

  function working() {
    const words = document.createElement("p");
    words.className = "remark";
    words.textContent = "working …";
    at("notice").replaceChildren(words);
  }

  async function ask() {
    if (asking) {
      again = true;
      return;
    }
    asking = true;
    const slow = setTimeout(working, PATIENCE);
    const question = { text: text.value, function: choice.value, args: args.value, wrt: wrt.value };
    try {
      const reply = await fetch("answer", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(question) });
      if (!reply.ok) throw new Error(`${reply.status}`);
      const answer = await reply.json();
      clearTimeout(slow);
      show(answer);
      document.body.dataset.answers = String(Number(document.body.dataset.answers || 0) + 1);
    } catch (error) {
      clearTimeout(slow);
      at("notice").textContent = `No answer: symgrad explore is not running any more (${error.message}).`;
    }
    asking = false;
    if (again) {
      again = false;
      ask();
    }
  }

  function soon() {
    clearTimeout(timer);
    timer = setTimeout(ask, WAIT);
  }

  function onTab(event) {
    if (event.key !== "Tab" || event.shiftKey || event.ctrlKey || event.altKey || escaped) return;
    event.preventDefault();
    document.execCommand("insertText", false, "    ");
  }

  let escaped = false; // after Escape the key Tab leaves the editor
  text.addEventListener("keydown", (event) => {
    if (event.key === "Escape") escaped = true;
    else if (event.key !== "Tab") escaped = false;
    if (event.key === "Enter" && !event.shiftKey) {
      const line = text.value.slice(0, text.selectionStart).split("\n").pop();
      const indent = line.match(/^ */)[0] + (line.trimEnd().endsWith(":") ? "    " : "");
      event.preventDefault();
      document.execCommand("insertText", false, `\n${indent}`);
    }
    onTab(event);
  });
  text.addEventListener("input", () => {
    lines = new Map();
    faulty = 0;
    paint();
    soon();
  });
  document.addEventListener("selectionchange", () => document.activeElement === text && followCaret());
  text.addEventListener("pointermove", (event) => {
    const box = text.getBoundingClientRect();
    const listed = lines.get(Math.floor((event.clientY - box.top) / 22) + 1);
    symgrad.light(document, "hot", listed && listed.dataset.key ? listed.dataset.key.split(" ") : []);
  });
  text.addEventListener("pointerleave", () => symgrad.light(document, "hot", []));
  choice.addEventListener("change", () => {
    args.value = "";
    ask();
  });
  args.addEventListener("input", soon);
  wrt.addEventListener("input", soon);
  at("asked").addEventListener("submit", (event) => event.preventDefault());

  symgrad.mount(at("page-root"));
  paint();
  ask();
})();
