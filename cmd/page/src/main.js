// SPDX-License-Identifier: LGPL-3.0-only
import { mount } from "svelte";
import App from "./App.svelte";
import "./page.css";

// The colours and classes of the pictures come from the program that draws them.
const style = document.createElement("link");
style.rel = "stylesheet";
style.href = "/pictures.css";
document.head.prepend(style);
mount(App, { target: document.getElementById("page") });
