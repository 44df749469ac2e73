import { ApiError } from './api.ts'

/** Streams a file to a new or an existing list, so that memory never contains all of it. */
export async function uploadFile(
  path: string,
  query: Record<string, string>,
  file: File,
): Promise<{ list?: { id: string }; import: { id: string } }> {
  const [, organization = ''] = location.pathname.split('/')
  const answer = await fetch(`${path}?${new URLSearchParams(query)}`, {
    method: 'POST',
    headers: {
      'content-type': /\.(nd)?jsonl?(\.gz)?$/i.test(file.name)
        ? 'application/x-ndjson'
        : 'text/csv',
      ...(/\.gz$/i.test(file.name) && { 'content-encoding': 'gzip' }),
      'x-organization-id': organization,
    },
    body: file,
  })
  const body = await answer.json()
  if (!answer.ok) throw new ApiError(answer.status, body.error, body.message, { details: body })
  return body
}
