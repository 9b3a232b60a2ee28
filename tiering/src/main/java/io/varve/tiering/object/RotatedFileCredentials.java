package io.varve.tiering.object;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
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

    @Override
    public AwsCredentials resolveCredentials() {
        return provider().resolveCredentials();
    }

    private synchronized AwsCredentialsProvider provider() {
        try {
            BasicFileAttributes about = Files.readAttributes(file, BasicFileAttributes.class);
            Version version = new Version(
                    about.lastModifiedTime().to(java.util.concurrent.TimeUnit.NANOSECONDS),
                    about.size(),
                    about.fileKey());
            if (seen == null || !seen.version().equals(version)) {
                seen = new Seen(version, read());
            }
            return seen.provider();
        } catch (IOException e) {
            throw SdkClientException.create("No credentials in " + file + ": " + e, e);
        }
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
