// SPDX-License-Identifier: LGPL-3.0-only
// Server-sent events over fetch, which sends the token in a header: EventSource cannot, and an address would be logged.

/// The token of the address: it is taken out of the bar, and kept for this tab, so that a reload works.
export function takeToken() {
  const given = location.hash.slice(1);
  if (given) {
    sessionStorage.setItem("token", given);
    history.replaceState(null, "", location.pathname + location.search);
  }
  return sessionStorage.getItem("token") ?? "";
}

/// Which instance is shown: "12/345", jobs that are instances, from the top's on; "": the top.
export const inside = new URLSearchParams(location.search).get("in") ?? "";

/// An address of the server, about the instance that is shown.
export const within = (path) => path + (inside ? (path.includes("?") ? "&" : "?") + "in=" + encodeURIComponent(inside) : "");

function headers(token) {
  return token ? { authorization: "Bearer " + token } : {};
}

/// The body of an answer as JSON; throws its text where it is an error.
export async function ask(token, path, body) {
  const answer = await fetch(path, {
    headers: { ...headers(token), ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
  });
  if (!answer.ok) {
    throw new Error((await answer.text()).trim());
  }
  return answer.json();
}

/// Calls take(name, data) for each event, until the stream ends.
async function readEvents(reader, take) {
  const decoder = new TextDecoder();
  let parts = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      return;
    }
    const pieces = decoder.decode(value, { stream: true }).split("\n\n");
    for (let i = 0; i < pieces.length; i++) {
      parts.push(pieces[i]);
      if (i + 1 < pieces.length) {
        takeEvent(parts.join(""), take);
        parts = [];
      }
    }
  }
}

function takeEvent(text, take) {
  const found = /^event: (\S+)\ndata: (.*)$/s.exec(text);
  if (found) {
    take(found[1], JSON.parse(found[2]));
  }
}

/// Listens for ever: after an end it connects again, later each time up to 10 s. tell(state, words): "live", "waiting",
/// "refused", after which nothing more comes.
export async function listen(token, path, take, tell) {
  for (let pause = 250; ; pause = Math.min(pause * 2, 10000)) {
    try {
      const answer = await fetch(path, { headers: headers(token) });
      if (answer.status === 401 || answer.status === 403) {
        tell("refused", (await answer.text()).trim());
        return;
      }
      if (answer.ok) {
        tell("live", "");
        pause = 250;
        await readEvents(answer.body.getReader(), take);
      }
      tell("waiting", answer.ok ? "The server has ended the connection." : (await answer.text()).trim());
    } catch (error) {
      tell("waiting", "The server does not answer.");
    }
    await new Promise((later) => setTimeout(later, pause));
  }
}
