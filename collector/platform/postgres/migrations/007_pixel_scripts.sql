-- Scripts that pages may have pinned by their version: served unchanged, whatever the pixel's settings become.
CREATE TABLE pixel_scripts (
  pixel_id uuid NOT NULL REFERENCES pixels ON DELETE CASCADE,
  version text NOT NULL,
  source text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (pixel_id, version)
);
