package io.varve.cli;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** What {@code --version} prints: the version that the build wrote down. */
final class Version implements IVersionProvider {

    @Override
    public String[] getVersion() throws IOException {
        Properties properties = new Properties();
        try (InputStream file = Version.class.getResourceAsStream("/varve-version.properties")) {
            properties.load(file);
        }
        return new String[] {
            "Varve " + properties.getProperty("varve.version"), "Java " + Runtime.version(),
        };
    }
}
