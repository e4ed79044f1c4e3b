package verbena.tools.files;

import org.jspecify.annotations.Nullable;

/// The location of a file, as with scp(1): `HOST:PATH` is elsewhere when no slash is before the colon, and an IPv6
/// address stands in brackets; anything else is a path here.
///
/// @param host null for here
record Location(@Nullable String host, String path) {
    static Location parse(String text) {
        if (text.startsWith("[")) {
            int end = text.indexOf("]:");
            if (end > 1) {
                return new Location(text.substring(1, end), text.substring(end + 2));
            }
        }
        int colon = text.indexOf(':');
        int slash = text.indexOf('/');
        boolean isRemote = colon > 0 && (slash < 0 || colon < slash);
        return isRemote ? new Location(text.substring(0, colon), text.substring(colon + 1)) : new Location(null, text);
    }

    boolean isRemote() {
        return host != null;
    }

    boolean endsInSlash() {
        return path.endsWith("/");
    }
}
