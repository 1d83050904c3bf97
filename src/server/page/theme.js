// Light or dark, before anything is drawn: as the system says, unless the user chose.
"use strict";

(() => {
  let theme = "";
  try {
    theme = localStorage.getItem("plait.theme") ?? "";
  } catch {
    // Without storage the system's choice holds.
  }
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
})();
