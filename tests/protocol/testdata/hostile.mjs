// Runs a program beside each of some daemons that mean ill, and writes what came of it: node hostile.mjs CLIENT SOCKET…
import { pathToFileURL } from "node:url";

const [module, ...sockets] = process.argv.slice(2);
const { connect } = await import(pathToFileURL(module).href);

for (const socket of sockets) {
  let began = 0;
  let client;
  const say = (ending) => console.log(JSON.stringify({ began, ...ending }));
  try {
    client = await connect(socket, {
      name: "hostile",
      async tools({ tool }, signal) {
        began++;
        if (tool === "hang") await new Promise((resolve) => signal.addEventListener("abort", resolve));
        return { content: [{ type: "text", text: tool }] };
      },
      progress() { began += 1_000_000; },
    });
    const { outcome } = await client.execute({ source: "return 1" });
    say({ outcome });
  } catch ({ name, message, sent }) {
    say({ name, message, sent });
  }
  await client?.close();
}
