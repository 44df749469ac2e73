import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { ApiError, type ApiKey, type KeysFate } from '../api.ts'
import { Choice } from './fields.tsx'
import type { Values } from './form.tsx'

/**
 * For forms that take something from a member: the service refuses until it is said what becomes of the API keys
 * that they have made and that would have more than they. `asking` carries the form out, with the answer where there
 * is one; `question` stands among the form's fields, and is empty until the service has asked.
 */
export function useKeysQuestion(): {
  asking<T>(values: Values, act: (fate: KeysFate) => Promise<T>): Promise<T>
  question: ComponentChildren
} {
  const [keys, setKeys] = useState<ApiKey[]>([])
  return {
    async asking({ api_keys }, act) {
      try {
        return await act(api_keys ? ({ api_keys } as KeysFate) : {})
      } catch (error) {
        if (!(error instanceof ApiError) || !Array.isArray(error.details.api_keys)) throw error
        setKeys(error.details.api_keys)
        throw new ApiError(
          error.status,
          error.code,
          'Say what becomes of the API keys they have made.',
        )
      }
    },
    question: keys.length > 0 && (
      <>
        <p>API keys they have made:</p>
        <ul>
          {keys.map((key) => (
            <li key={key.key_id}>
              {key.name} <code>{key.key_prefix}…</code>
            </li>
          ))}
        </ul>
        <Choice
          name="api_keys"
          label="What becomes of these keys?"
          options={[
            { value: 'revoke', label: 'Revoke them', hint: 'What uses them is refused at once.' },
            {
              value: 'hand_over',
              label: 'Take them over',
              hint: 'They go on, in your name; they may do no more than you may.',
            },
          ]}
        />
      </>
    ),
  }
}
