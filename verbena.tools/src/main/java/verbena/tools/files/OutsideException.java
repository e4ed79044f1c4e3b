package verbena.tools.files;

import java.nio.file.FileSystemException;
import java.nio.file.Path;

/// A path leads out of the folder that it was to stay in.
final class OutsideException extends FileSystemException {
    private static final long serialVersionUID = 1L;

    OutsideException(Path path) {
        super(Names.shown(path), null, "leads outside of the folder");
    }
}
