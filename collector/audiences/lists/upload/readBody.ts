import '@fastify/multipart'
import { extname } from 'node:path'
import type { FastifyRequest } from 'fastify'
import { invalidParameter, malformed, unsupportedMediaType } from '../../../api/http/errors.ts'
import type { ImportFile } from '../file/importFile.ts'

export const streamTypes = ['text/csv', 'application/x-ndjson', 'multipart/form-data'] as const

/** Parameters of a file in its request: in the query, or as fields of a form before the file. */
export type UploadParameters = Readonly<Record<string, string | undefined>>

export interface Body {
  /** `items`: items of a JSON body, one per line of NDJSON. */
  readonly format: ImportFile['format'] | 'items'
  readonly parameters: UploadParameters
  readonly bytes: AsyncIterable<Buffer>
}

/** The body, or the first file of a form. Items in JSON become lines of NDJSON. */
export async function readBody(request: FastifyRequest): Promise<Body> {
  const parameters = request.query as UploadParameters
  const type = (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  switch (type) {
    case 'application/json': {
      const { items, ...members } = request.body as { items: unknown[] } & UploadParameters
      return { format: 'items', parameters: together(parameters, members), bytes: linesOf(items) }
    }
    case 'text/csv':
      return { format: 'csv', parameters, bytes: request.body as AsyncIterable<Buffer> }
    case 'application/x-ndjson':
      return {
        format: 'ndjson',
        parameters,
        bytes: request.body as AsyncIterable<Buffer>,
      }
    case 'multipart/form-data':
      return readForm(request, parameters)
    default:
      throw unsupportedMediaType(['application/json', ...streamTypes])
  }
}

/** Combines the parameters of a query and the members of a body. Throws 400 if they name two projects. */
function together(query: UploadParameters, body: UploadParameters): UploadParameters {
  const named = [query, body]
    .flatMap(({ project_id }) => project_id ?? [])
    .map((id) => String(id).toLowerCase())
  if (new Set(named).size > 1) {
    throw invalidParameter(
      'project_id',
      'differs between the body and the query or the X-Project-Id header',
    )
  }
  return { ...query, ...body }
}

/** Largest field of a form. */
const fieldBytesMax = 1_000
export const formLimits = {
  files: 1,
  fields: 10,
  parts: 11,
  fieldSize: fieldBytesMax,
  fileSize: Infinity,
}

async function readForm(request: FastifyRequest, parameters: UploadParameters): Promise<Body> {
  const fields: Record<string, string> = {}
  for await (const part of untilBroken(request.parts())) {
    if (part.type === 'field') {
      if (part.valueTruncated)
        throw invalidParameter(part.fieldname, `must have at most ${fieldBytesMax} bytes`)
      fields[part.fieldname] = String(part.value)
      continue
    }
    return {
      format: formatOf(part.mimetype, part.filename),
      parameters: together(parameters, fields),
      bytes: untilBroken(part.file),
    }
  }
  throw malformed('The form contains no file.')
}

/** Yields the parts of a form, or the bytes of its file. Throws 400 for a broken form. */
async function* untilBroken<T>(parts: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* parts
  } catch (error) {
    const { message } = error as Error
    if (/^Unexpected end of /.test(message)) throw malformed('The form ends within its file.')
    if (/^(Multipart: |Malformed )/.test(message))
      throw malformed('The body is not a valid form: its boundary is missing.')
    throw error
  }
}

const endings: Readonly<Record<string, ImportFile['format']>> = {
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.json': 'ndjson',
}

/** Returns the format by the part's type, or by the extension of its name, packed or not; default CSV. */
function formatOf(mimetype: string, filename: string | undefined): ImportFile['format'] {
  if (mimetype === 'application/x-ndjson') return 'ndjson'
  if (mimetype === 'text/csv') return 'csv'
  return endings[extname((filename ?? '').replace(/\.gz$/i, '')).toLowerCase()] ?? 'csv'
}

const itemsAtOnce = 10_000

async function* linesOf(items: readonly unknown[]): AsyncGenerator<Buffer> {
  for (let from = 0; from < items.length; from += itemsAtOnce) {
    const some = items.slice(from, from + itemsAtOnce)
    yield Buffer.from(some.map((item) => `${JSON.stringify(item)}\n`).join(''))
  }
}
