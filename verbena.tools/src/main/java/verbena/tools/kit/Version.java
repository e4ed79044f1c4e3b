package verbena.tools.kit;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/// The text of `--version`: the version of the build and the Java that runs it.
public final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
        return new String[] {
            "verbena " + ofThisBuild(),
            "Java " + Runtime.version() + ", " + System.getProperty("os.name") + " " + System.getProperty("os.arch")
        };
    }

    /// Returns the version of the build alone.
    public static String ofThisBuild() {
        var properties = new Properties();
        try (InputStream in = Version.class.getResourceAsStream("version.properties")) {
            if (in != null) {
                properties.load(in);
            }
        } catch (IOException _) {
            // As if it were not in the build.
        }
        return properties.getProperty("version", "(unknown version)");
    }
}
