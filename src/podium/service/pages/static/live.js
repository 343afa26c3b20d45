// Without this script the next page says the same. What is typed is sent after a pause, one request at a time.
const PAUSE = 400;
for (const form of document.querySelectorAll("form[data-live]")) {
  const shown = form.querySelector(".live");
  let timer = 0;
  let running = null;
  const show = async () => {
    running?.abort();
    if (!form.checkValidity()) {
      shown.hidden = true;
      return;
    }
    const mine = running = new AbortController();
    const fields = new URLSearchParams(new FormData(form));
    try {
      const answer = await fetch(`${form.dataset.live}?${fields}`, { signal: mine.signal, headers: { Accept: "text/html" } });
      if (answer.status === 200) {
        // Rendered by this service with everything escaped; the policy of the page runs no script in it.
        shown.replaceChildren(...new DOMParser().parseFromString(await answer.text(), "text/html").body.childNodes);
        shown.hidden = false;
      } else {
        shown.hidden = true;
      }
    } catch {
      // Another request took its place, or the service is away: the next page says what it would cost.
    }
  };
  const later = () => { clearTimeout(timer); timer = setTimeout(show, PAUSE); };
  form.addEventListener("input", later);
  form.addEventListener("change", later);
  // SQL is an example until somebody edits it.
  if (form.querySelector("[name=sql]") === null) later();
}
