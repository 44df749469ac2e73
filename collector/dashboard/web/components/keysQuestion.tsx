import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { ApiError, type ApiKey, type KeysFate } from '../api.ts'
import { Choice } from './fields.tsx'
import type { Values } from './form.tsx'

/**
 * For forms that reduce the rights of a member. The service refuses until the user decides about API keys of
 * the member that would exceed them. `asking` sends the form, with the answer if there is one. `question`
 * belongs among the form's fields, and is empty until the service has asked.
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
          'Choose what happens to the API keys of this member.',
        )
      }
    },
    question: keys.length > 0 && (
      <>
        <p>API keys of this member:</p>
        <ul>
          {keys.map((key) => (
            <li key={key.key_id}>
              {key.name} <code>{key.key_prefix}…</code>
            </li>
          ))}
        </ul>
        <Choice
          name="api_keys"
          label="What happens to these keys?"
          options={[
            {
              value: 'revoke',
              label: 'Revoke them',
              hint: 'Programs that use them are refused at once.',
            },
            {
              value: 'hand_over',
              label: 'Take them over',
              hint: 'They keep working in your name, with at most your permissions.',
            },
          ]}
        />
      </>
    ),
  }
}
