/**
 * A Content-Security-Policy for pages that a server writes. Each response has a new nonce.
 * 'strict-dynamic' lets the pixel load its own parts from any address. Replace PIXEL_ID with the id of your
 * pixel, and the address with that of your collector.
 */
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'

const collector = 'http://127.0.0.1:8787'
const stub =
  '!function(w){(w.footfall||0).call||(w.footfall=function(){(w.footfall.q=w.footfall.q||[]).push(arguments)})}(window)'

export const server = createServer((_request, response) => {
  const nonce = randomBytes(16).toString('base64')
  response.setHeader(
    'content-security-policy',
    `default-src 'self'; script-src 'nonce-${nonce}' 'strict-dynamic'; connect-src 'self' ${collector}/e`,
  )
  response.setHeader('content-type', 'text/html; charset=utf-8')
  response.end(`<!doctype html><title>A nonce</title>
    <script nonce="${nonce}">${stub}</script>
    <script nonce="${nonce}" async src="${collector}/p/PIXEL_ID.js"></script>
    <button type="button">Captured under a strict policy</button>`)
})

// node nonce.mjs
if (process.argv[1] === import.meta.filename) server.listen(8080)
