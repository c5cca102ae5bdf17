// What only the browser can do. Loaded once a document by every page.
(() => {
  if (window.pageScript) return;
  window.pageScript = true;

  // Back undoes the last change of a control. Streamlit writes a moved control into the address in place of what stood
  // there, and on Back reads all controls from the address again. So each change by hand becomes an entry of its own;
  // and a page opened from the menu, whose carried parameters are written after its path, becomes one entry, not two.
  const push = history.pushState.bind(history), replace = history.replaceState.bind(history);
  let byHand = false, arriving = false;
  for (const input of ["pointerdown", "keydown"])
    addEventListener(input, () => { byHand = true; arriving = false; }, true);
  addEventListener("popstate", () => { byHand = arriving = false; }, true);
  const samePage = url => url && new URL(url, location).pathname === location.pathname;
  const sameState = url => new URL(url, location).search === location.search;
  history.replaceState = (state, title, url) =>
    (byHand && samePage(url) && !sameState(url) ? push : replace)(state, title, url);
  history.pushState = (state, title, url) => {
    if (samePage(url)) return (arriving ? replace : push)(state, title, url);
    arriving = true;
    push(state, title, url);
  };

  // .../#words opens the glossary of the start page. By now streamlit has taken the fragment out of the address.
  const box = () => document.querySelector(".st-key-words details");
  const look = performance.getEntriesByType("navigation")[0]?.name.endsWith("#words") && setInterval(() => {
    if (!box()) return;
    clearInterval(look);
    if (!box().open) box().querySelector("summary").click();
    setTimeout(() => box().scrollIntoView(), 500);
  }, 200);

  // The name of an own table stays in the browser: streamlit gets the file as "table", and the page shows the true name
  // by its style sheet, unless the uploader refuses the file. One that is dropped or pasted takes the way of one that is chosen.
  const LARGEST = 5 * 2 ** 20;
  const inOwn = event => event.target.closest?.("[class*=st-key-own_file_]");
  addEventListener("change", event => {
    const [file] = inOwn(event) && event.target.files || [];
    if (!file) return;
    const endings = event.target.accept.split(","), renamed = new DataTransfer();
    const ending = endings.find(each => file.name.toLowerCase().endsWith(each)) ?? "";
    renamed.items.add(new File([file], "table" + ending, { type: file.type }));
    event.target.files = renamed.files;
    if (file.size <= LARGEST && ending)
      document.documentElement.style.setProperty("--own-file", JSON.stringify(file.name));
  }, true);
  for (const arrival of ["drop", "paste"])
    addEventListener(arrival, event => {
      const input = inOwn(event)?.querySelector("input[type=file]:enabled");
      const files = (event.dataTransfer ?? event.clipboardData)?.files;
      if (!input || !files?.length) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      input.files = files;
      event.target.dispatchEvent(new DragEvent("dragleave", { bubbles: true, dataTransfer: event.dataTransfer }));
      input.dispatchEvent(new Event("change", { bubbles: true }));
    }, true);

  // A chart's toolbar is one stop of the Tab key; arrow keys move within it.
  addEventListener("keydown", event => {
    if (event.key === "Tab") {
      for (const bar of document.querySelectorAll(".modebar"))
        bar.querySelectorAll(".modebar-btn").forEach((button, place) => { button.tabIndex = place ? -1 : 0; });
      return;
    }
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key], at = event.target.closest?.(".modebar-btn");
    if (!step || !at) return;
    const all = [...at.closest(".modebar").querySelectorAll(".modebar-btn")];
    all[(all.indexOf(at) + step + all.length) % all.length].focus();
    event.preventDefault();
    event.stopPropagation();
  }, true);

  // A page that is shown to a room begins at its top, as if it had been opened so.
  addEventListener("click", event => {
    if (event.target.closest?.(".st-key-present button"))
      document.querySelector("[data-testid=stMain]").scrollTo(0, 0);
  }, true);

  // In a narrow window the menu gives way to the page that it opens, as streamlit lets it do on a telephone only.
  addEventListener("click", event => {
    if (innerWidth >= 768 || !event.target.closest?.("[data-testid=stSidebarNavLink]")) return;
    const open = "[data-testid=stSidebar][data-collapsed=false] [data-testid=stSidebarCollapseButton] button";
    setTimeout(() => document.querySelector(open)?.click(), 300);
  }, true);

  // ?lesson=1: the arrow keys step through the tour, unless the key is for a control.
  const STEPS = { ArrowLeft: /^Back/, ArrowRight: /^(Next question|Take the tour)/ };
  const CONTROLS = "input, textarea, [role=slider], [role=tab], [role=combobox], [role=option], [role=menuitem], canvas";
  addEventListener("keydown", event => {
    const wanted = STEPS[event.key];
    if (!wanted || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (new URLSearchParams(location.search).get("lesson") !== "1" || event.target.closest?.(CONTROLS)) return;
    const ways = document.querySelectorAll(".st-key-tour_banner a, .st-key-tour_start button");
    [...ways].find(way => wanted.test(way.textContent.trim().replace(/^[a-z_]+(?=[A-Z])/, "")))?.click();
  });
})();
