/** A button that loads a list's next page, if there is one. */
export const MoreButton = ({ more }: { more: (() => unknown) | undefined | false }) =>
  more ? (
    <p>
      <button type="button" onClick={more}>
        Show more
      </button>
    </p>
  ) : null
