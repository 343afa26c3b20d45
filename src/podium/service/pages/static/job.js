// Without this script the page reloads every two seconds; with it, as soon as the state changes.
const heading = document.getElementById("job");
if (heading !== null) {
  const before = heading.textContent;
  const source = new EventSource(heading.dataset.events);
  source.addEventListener("state", (event) => {
    const state = JSON.parse(event.data).state;
    if (state === "queued" || state === "reading") {
      heading.textContent = state === "reading" ? "Reading …" : before;
      return;
    }
    source.close();
    location.reload();
  });
}
