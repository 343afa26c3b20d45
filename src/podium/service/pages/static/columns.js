// Without this script the names of columns are typed. With it, they are buttons that write into the field used last.
const fields = [...document.querySelectorAll("#where, #sql")];
let last = fields[0];
for (const field of fields) field.addEventListener("focus", () => { last = field; });
for (const chip of document.querySelectorAll(".chip[data-column]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "chip";
  button.append(...chip.childNodes);
  button.addEventListener("click", () => {
    const name = chip.dataset.column;
    const written = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
    last.setRangeText(written, last.selectionStart, last.selectionEnd, "end");
    last.focus();
    last.dispatchEvent(new Event("input", { bubbles: true }));
  });
  chip.replaceWith(button);
}
