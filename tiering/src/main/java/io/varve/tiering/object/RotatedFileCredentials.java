package io.varve.tiering.object;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.concurrent.TimeUnit;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.ProfileCredentialsProvider;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.profiles.ProfileFile;

/**
 * A profile in a credentials file that somebody rotates under us. The file is looked at at every signing, and read again whenever it is
 * another one than before; the SDK's own supplier looks only now and then, and goes on signing with keys that are gone. Safe for any
 * thread.
 */
final class RotatedFileCredentials implements AwsCredentialsProvider {

    /** What every failure's message begins with. */
    static final String NONE = "no credentials: ";

    private final Path file;
    private final String profile;
    private Seen seen;

    RotatedFileCredentials(Path file, String profile) {
        this.file = file;
        this.profile = profile;
    }

    private record Seen(Version version, AwsCredentialsProvider provider) {}

    /** What tells one content of a file from the next: also renamed into place within one tick of the file system's clock. */
    private record Version(long modifiedNs, long size, Object fileKey) {}

    /** @throws SdkClientException in a line that begins with {@link #NONE} and names the file, whatever is wrong with it */
    @Override
    public AwsCredentials resolveCredentials() {
        AwsCredentialsProvider found;
        try {
            found = provider();
        } catch (NoSuchFileException e) {
            throw none("isn't there", e);
        } catch (AccessDeniedException e) {
            throw none("can't be read by this process", e);
        } catch (IOException e) {
            throw none("can't be read: " + e, e);
        } catch (IllegalArgumentException | UncheckedIOException e) {
            throw none("doesn't parse: " + e.getMessage(), e);
        }
        try {
            return found.resolveCredentials();
        } catch (SdkClientException | IllegalArgumentException | IllegalStateException e) {
            throw none("has no profile '" + profile + "' with aws_access_key_id and aws_secret_access_key", e);
        }
    }

    private SdkClientException none(String why, Exception e) {
        return SdkClientException.create(NONE + file + " " + why, e);
    }

    private synchronized AwsCredentialsProvider provider() throws IOException {
        BasicFileAttributes about = Files.readAttributes(file, BasicFileAttributes.class);
        Version version = new Version(about.lastModifiedTime().to(TimeUnit.NANOSECONDS), about.size(), about.fileKey());
        if (seen == null || !seen.version().equals(version)) {
            seen = new Seen(version, read());
        }
        return seen.provider();
    }

    private AwsCredentialsProvider read() {
        ProfileFile content = ProfileFile.builder()
                .content(file)
                .type(ProfileFile.Type.CREDENTIALS)
                .build();
        return ProfileCredentialsProvider.builder()
                .profileFile(content)
                .profileName(profile)
                .build();
    }
}
