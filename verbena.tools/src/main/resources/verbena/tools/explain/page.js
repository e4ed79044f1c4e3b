// Shows in the panel what belongs to the event under the pointer, with the focus, or that was chosen.
(function () {
  "use strict";
  const panel = document.querySelector("aside");
  const events = Array.from(document.querySelectorAll(".event"));
  let chosen = null;

  function show(event) {
    panel.replaceChildren();
    const shut = document.createElement("button");
    shut.type = "button";
    shut.textContent = "Close";
    shut.addEventListener("click", function () { panel.classList.add("shut"); });
    panel.append(shut, event.querySelector(".detail").content.cloneNode(true));
    panel.scrollTop = 0;
  }

  function choose(event) {
    if (chosen) { chosen.classList.remove("chosen"); }
    chosen = event;
    event.classList.add("chosen");
    panel.classList.remove("shut");
    show(event);
  }

  events.forEach(function (event, index) {
    event.addEventListener("click", function () { choose(event); });
    event.addEventListener("focus", function () { choose(event); });
    event.addEventListener("pointerenter", function (e) { if (e.pointerType === "mouse") { show(event); } });
    event.addEventListener("pointerleave", function (e) { if (e.pointerType === "mouse" && chosen) { show(chosen); } });
    event.addEventListener("keydown", function (e) {
      const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
      const next = events[index + step];
      if (step && next) { e.preventDefault(); next.focus(); }
    });
  });

  // A field and its bytes light up together.
  panel.addEventListener("pointerover", function (e) {
    const field = e.target.closest("[data-f]");
    panel.querySelectorAll("[data-f]").forEach(function (part) {
      part.classList.toggle("marked", field !== null && part.dataset.f === field.dataset.f);
    });
  });

  if (window.matchMedia("(min-width: 66rem)").matches) {
    const last = Array.from(document.querySelectorAll(".phase")).pop();
    const packets = events.filter(function (event) {
      return event.classList.contains("packet") && last.compareDocumentPosition(event) & Node.DOCUMENT_POSITION_FOLLOWING;
    });
    show(packets[0] || events[0]);
  }
})();
