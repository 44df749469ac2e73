import { ApiError } from '../api.ts'

/** Parses the JSON of a form's field. Throws the fault that the form shows next to the field. */
export function readJson(text: string, field: string): Record<string, unknown> {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ApiError(400, 'invalid_parameter', `Must be JSON: ${(error as Error).message}`, {
      details: { parameter: field },
    })
  }
}
