// node:http as a second opinion on framing: answers every request with its method and body.
const http = require("node:http");
const server = http.createServer({ maxHeaderSize: 65536 }, (request, response) => {
  const pieces = [];
  request.on("data", (piece) => pieces.push(piece));
  request.on("end", () => {
    const body = `${request.method} ${Buffer.concat(pieces).toString("hex")}`;
    response.setHeader("Content-Length", body.length);
    response.end(body);
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
