-- What nobody knows of an event is null, not an empty text.
ALTER TABLE {events}
    MODIFY COLUMN user_agent Nullable(String) CODEC(ZSTD(1)),
    MODIFY COLUMN client_ip Nullable(String) CODEC(ZSTD(1)),
    MODIFY COLUMN page_url Nullable(String) CODEC(ZSTD(1)),
    MODIFY COLUMN page_host LowCardinality(Nullable(String)),
    MODIFY COLUMN page_path Nullable(String) CODEC(ZSTD(1)),
    MODIFY COLUMN device_type LowCardinality(Nullable(String));
ALTER TABLE {events}
    UPDATE user_agent = nullIf(user_agent, ''), client_ip = nullIf(client_ip, ''), page_url = nullIf(page_url, ''),
        page_host = nullIf(page_host, ''), page_path = nullIf(page_path, ''), device_type = nullIf(device_type, '')
    WHERE user_agent = '' OR client_ip = '' OR page_url = '' OR page_host = '' OR page_path = '' OR device_type = '';
